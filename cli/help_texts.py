"""What `--help` prints, by command. Made by render_help.py; a test fails when it is old."""

from typing import Final

HELP: Final[dict[str, str]] = {
    "": """\
Usage: tidegate [OPTIONS] COMMAND [ARGS]...

  A money agent for the Sui blockchain that lives in a shell.

  Small writes go through by policy; everything else waits for `tidegate resume`. Without any setup
  it runs on a sandbox network on this machine. Exit status: 0 done, 1 a bug, 2 bad input, 3 a write
  waits, 4 refused, 5 model failed, 6 network failed, 7 sent but outcome unknown, 8 budget spent,
  130 interrupted.

Options:
  --version             Show the version.
  --install-completion  Install completion for the current shell.
  --show-completion     Show completion for the current shell, to copy it or customize the
                        installation.
  -h, --help            Show this message and exit.

Commands:
  ask       Ask for one thing; it is done, or it waits for `tidegate resume`.
  chat      Talk: a prompt on a terminal; in a pipe, one JSON request a line in and events out.
  quote     Show what a swap would give now.
  resume    Settle a write that waits, or finish one that was cut off.
  call      Run one tool directly; a write takes the same road as any other.
  tools     List the tools that a model, or `tidegate call`, can use.
  doctor    Check installation, settings, store, journal, wallet, network and provider.
  sessions  List conversations, the newest first.
  journal   List writes, the newest first, with the step each has come to.
  wallet    Make, import and show the keys of wallets.
  config    Show and change settings.
  sandbox   Control the Sui network inside this package: play money, time, prices, faults.
  schema    Print JSON Schemas of the output.
""",
    "ask": """\
Usage: tidegate ask [OPTIONS] [TEXT|-]

  Ask for one thing; it is done, or it waits for `tidegate resume`.

  Example: tidegate ask "save 10 USDC" | jq -r 'select(.type=="turn_complete").text'

Arguments:
  TEXT|- <str>  What you want, in plain words; - reads stdin.

Options:
  --session ID     Go on with this conversation.
  --continue       Go on with the newest conversation.
  --dry-run        Simulate writes, report what they would do, send nothing.
  --network NAME   sandbox, testnet, mainnet or the URL of a node.
  --profile NAME   Settings of [profiles.NAME] in the file.
  --provider NAME  Who answers: auto, anthropic or offline.
  --model ID       The model that answers.
  --preset NAME    What may go through without asking, such as balanced.
  --output FORM    auto, ndjson, json or text; auto is text on a terminal, else ndjson.
  -h, --help       Show this message and exit.
""",
    "chat": """\
Usage: tidegate chat [OPTIONS]

  Talk: a prompt on a terminal; in a pipe, one JSON request a line in and events out.

  A request is {"text": …}, or {"resume": ID or null, "decision": "approve" or "deny"} with
  "changes" or "understood_usd" where they are needed.

  Example: printf '{"text":"balance"}\\n{"text":"save 1 USDC"}\\n' | tidegate chat

Options:
  --session ID     Go on with this conversation.
  --continue       Go on with the newest conversation.
  --dry-run        Simulate writes, report what they would do, send nothing.
  --network NAME   sandbox, testnet, mainnet or the URL of a node.
  --profile NAME   Settings of [profiles.NAME] in the file.
  --provider NAME  Who answers: auto, anthropic or offline.
  --model ID       The model that answers.
  --preset NAME    What may go through without asking, such as balanced.
  --output FORM    auto, ndjson, json or text; auto is text on a terminal, else ndjson.
  -h, --help       Show this message and exit.
""",
    "quote": """\
Usage: tidegate quote [OPTIONS] {FROM} {TO} {AMOUNT}

  Show what a swap would give now. Needs no wallet and no model.

  Example: tidegate quote SUI USDC 2 | jq .amount_out

Arguments:
  FROM <str>    The token that is given.  [required]
  TO <str>      The token that is received.  [required]
  AMOUNT <str>  How much of FROM, such as 2 or 1,000.5.  [required]

Options:
  --by-amount-out      AMOUNT is how much of TO is to be received.
  --slippage FRACTION  Accepted loss against the quote: 0.01 is 1%.
  --network NAME       sandbox, testnet, mainnet or the URL of a node.
  --profile NAME       Settings of [profiles.NAME] in the file.
  --output FORM        auto, ndjson, json or text; auto is text on a terminal, else ndjson.
  -h, --help           Show this message and exit.
""",
    "resume": """\
Usage: tidegate resume [OPTIONS] [ID]

  Settle a write that waits, or finish one that was cut off. Without an option it is shown.

  Example: tidegate resume --approve

Arguments:
  ID <str>  The write's id, or its first characters; the only one if not given.

Options:
  --approve           Carry it out.
  --deny              Never carry it out.
  --set NAME=VALUE    Change a field and propose the write again.
  --regenerate        Read the market again and propose the write again.
  --i-understand USD  With --approve: the value that a big write shows.
  --explicit          With --approve at a terminal: ask me about a big write.
  --network NAME      sandbox, testnet, mainnet or the URL of a node.
  --profile NAME      Settings of [profiles.NAME] in the file.
  --preset NAME       What may go through without asking, such as balanced.
  --output FORM       auto, ndjson, json or text; auto is text on a terminal, else ndjson.
  -h, --help          Show this message and exit.
""",
    "call": """\
Usage: tidegate call [OPTIONS] {TOOL} [NAME=VALUE]...

  Run one tool directly; a write takes the same road as any other.

  Example: tidegate call save_deposit amount=10 asset=USDC --dry-run

Arguments:
  TOOL <str>              A tool's name; `tidegate tools` lists them.  [required]
  NAME=VALUE <list[str]>  The tool's input; `tidegate tools TOOL` shows it.

Options:
  --session ID    Go on with this conversation.
  --dry-run       Simulate writes, report what they would do, send nothing.
  --network NAME  sandbox, testnet, mainnet or the URL of a node.
  --profile NAME  Settings of [profiles.NAME] in the file.
  --preset NAME   What may go through without asking, such as balanced.
  --output FORM   auto, ndjson, json or text; auto is text on a terminal, else ndjson.
  -h, --help      Show this message and exit.
""",
    "tools": """\
Usage: tidegate tools [OPTIONS] [NAME]

  List the tools that a model, or `tidegate call`, can use.

  Example: tidegate tools | jq -r 'select(.kind=="write").name'

Arguments:
  NAME <str>  Show one tool with its input and an example.

Options:
  --output FORM  auto, ndjson, json or text; auto is text on a terminal, else ndjson.
  -h, --help     Show this message and exit.
""",
    "doctor": """\
Usage: tidegate doctor [OPTIONS]

  Check installation, settings, store, journal, wallet, network and provider.

  Exits 0 if all is well, else with the status of the worst that is not. Example: tidegate doctor |
  jq -r 'select(.ok|not).message'

Options:
  --network NAME   sandbox, testnet, mainnet or the URL of a node.
  --profile NAME   Settings of [profiles.NAME] in the file.
  --provider NAME  Who answers: auto, anthropic or offline.
  --output FORM    auto, ndjson, json or text; auto is text on a terminal, else ndjson.
  -h, --help       Show this message and exit.
""",
    "sessions": """\
Usage: tidegate sessions [OPTIONS] COMMAND [ARGS]...

  List conversations, the newest first.

  Example: tidegate sessions | jq -r .title

Options:
  --limit N       Most to show.  [default: 50; 1<=x<=1000]
  --profile NAME  Settings of [profiles.NAME] in the file.
  --output FORM   auto, ndjson, json or text; auto is text on a terminal, else ndjson.
  -h, --help      Show this message and exit.

Commands:
  show  Show what was said in a conversation.
""",
    "sessions show": """\
Usage: tidegate sessions show [OPTIONS] {ID}

  Show what was said in a conversation.

  Example: tidegate sessions show ID | jq -r 'select(.role=="user").text'

Arguments:
  ID <str>  The session's id.  [required]

Options:
  --profile NAME  Settings of [profiles.NAME] in the file.
  --output FORM   auto, ndjson, json or text; auto is text on a terminal, else ndjson.
  -h, --help      Show this message and exit.
""",
    "journal": """\
Usage: tidegate journal [OPTIONS] COMMAND [ARGS]...

  List writes, the newest first, with the step each has come to.

  Example: tidegate journal | jq -r .state

Options:
  --limit N       Most to show.  [default: 50; 1<=x<=1000]
  --profile NAME  Settings of [profiles.NAME] in the file.
  --output FORM   auto, ndjson, json or text; auto is text on a terminal, else ndjson.
  -h, --help      Show this message and exit.

Commands:
  show    Show every step of one write with its time.
  verify  Check that the journal says what was written into it: no row changed, removed or put...
""",
    "journal show": """\
Usage: tidegate journal show [OPTIONS] {ID}

  Show every step of one write with its time.

Arguments:
  ID <str>  The write's id, or at least its first 4 characters.  [required]

Options:
  --profile NAME  Settings of [profiles.NAME] in the file.
  --output FORM   auto, ndjson, json or text; auto is text on a terminal, else ndjson.
  -h, --help      Show this message and exit.
""",
    "journal verify": """\
Usage: tidegate journal verify [OPTIONS]

  Check that the journal says what was written into it: no row changed, removed or put in between.

Options:
  --profile NAME  Settings of [profiles.NAME] in the file.
  --output FORM   auto, ndjson, json or text; auto is text on a terminal, else ndjson.
  -h, --help      Show this message and exit.
""",
    "wallet": """\
Usage: tidegate wallet [OPTIONS] COMMAND [ARGS]...

  Make, import and show the keys of wallets.

Options:
  -h, --help  Show this message and exit.

Commands:
  new      Make a new key.
  import   Store a key that exists already: suiprivkey1…, read from stdin or asked for on a...
  address  Show a wallet's address.
  list     List the stored keys.
  export   Print a private key, suiprivkey1…, and nothing else.
""",
    "wallet new": """\
Usage: tidegate wallet new [OPTIONS] [NAME]

  Make a new key.

  Its passphrase is TIDEGATE_PASSPHRASE, or is asked for on a terminal. Real money needs one.

Arguments:
  NAME <str>  The key's name; by default the one in use.

Options:
  --network NAME  sandbox, testnet, mainnet or the URL of a node.
  --profile NAME  Settings of [profiles.NAME] in the file.
  --output FORM   auto, ndjson, json or text; auto is text on a terminal, else ndjson.
  -h, --help      Show this message and exit.
""",
    "wallet import": """\
Usage: tidegate wallet import [OPTIONS] [NAME]

  Store a key that exists already: suiprivkey1…, read from stdin or asked for on a terminal.

  Example: tidegate wallet import savings < key.txt

Arguments:
  NAME <str>  The key's name; by default the one in use.

Options:
  --sui-keystore FILE  Take the key from this sui.keystore file.
  --address ADDRESS    Which key of the file to take.
  --network NAME       sandbox, testnet, mainnet or the URL of a node.
  --profile NAME       Settings of [profiles.NAME] in the file.
  --output FORM        auto, ndjson, json or text; auto is text on a terminal, else ndjson.
  -h, --help           Show this message and exit.
""",
    "wallet address": """\
Usage: tidegate wallet address [OPTIONS] [NAME]

  Show a wallet's address.

  Example: tidegate wallet address | jq -r .address

Arguments:
  NAME <str>  The key's name; by default the one in use.

Options:
  --network NAME  sandbox, testnet, mainnet or the URL of a node.
  --profile NAME  Settings of [profiles.NAME] in the file.
  --output FORM   auto, ndjson, json or text; auto is text on a terminal, else ndjson.
  -h, --help      Show this message and exit.
""",
    "wallet list": """\
Usage: tidegate wallet list [OPTIONS]

  List the stored keys.

Options:
  --network NAME  sandbox, testnet, mainnet or the URL of a node.
  --profile NAME  Settings of [profiles.NAME] in the file.
  --output FORM   auto, ndjson, json or text; auto is text on a terminal, else ndjson.
  -h, --help      Show this message and exit.
""",
    "wallet export": """\
Usage: tidegate wallet export [OPTIONS] {NAME}

  Print a private key, suiprivkey1…, and nothing else. Whoever sees it owns what the wallet owns.

Arguments:
  NAME <str>  The key's name.  [required]

Options:
  --reveal        Yes, show the private key.
  --profile NAME  Settings of [profiles.NAME] in the file.
  -h, --help      Show this message and exit.
""",
    "config": """\
Usage: tidegate config [OPTIONS] COMMAND [ARGS]...

  Show and change settings.

Options:
  -h, --help  Show this message and exit.

Commands:
  show  Show every setting in force and where its value comes from.
  get   Show what the file says of one setting, or its default.
  set   Write one setting into the configuration file; comments in it are lost.
  path  Show where the configuration file is, whether or not it exists.
""",
    "config show": """\
Usage: tidegate config show [OPTIONS]

  Show every setting in force and where its value comes from.

  Example: tidegate config show | jq -r 'select(.source!="default")'

Options:
  --network NAME   sandbox, testnet, mainnet or the URL of a node.
  --profile NAME   Settings of [profiles.NAME] in the file.
  --provider NAME  Who answers: auto, anthropic or offline.
  --model ID       The model that answers.
  --preset NAME    What may go through without asking, such as balanced.
  --output FORM    auto, ndjson, json or text; auto is text on a terminal, else ndjson.
  -h, --help       Show this message and exit.
""",
    "config get": """\
Usage: tidegate config get [OPTIONS] {KEY}

  Show what the file says of one setting, or its default.

  `tidegate config show` says what is in force, with the environment and flags counted in.

Arguments:
  KEY <str>  A setting, such as network or presets.mine.send.auto_below.  [required]

Options:
  --profile NAME  Settings of [profiles.NAME] in the file.
  --output FORM   auto, ndjson, json or text; auto is text on a terminal, else ndjson.
  -h, --help      Show this message and exit.
""",
    "config set": """\
Usage: tidegate config set [OPTIONS] {KEY} {VALUE}

  Write one setting into the configuration file; comments in it are lost.

  Example: tidegate config set preset conservative

Arguments:
  KEY <str>    A setting, such as network or presets.mine.send.auto_below.  [required]
  VALUE <str>  As in an environment variable.  [required]

Options:
  --profile NAME  Settings of [profiles.NAME] in the file.
  --output FORM   auto, ndjson, json or text; auto is text on a terminal, else ndjson.
  -h, --help      Show this message and exit.
""",
    "config path": """\
Usage: tidegate config path [OPTIONS]

  Show where the configuration file is, whether or not it exists.

Options:
  --output FORM  auto, ndjson, json or text; auto is text on a terminal, else ndjson.
  -h, --help     Show this message and exit.
""",
    "sandbox": """\
Usage: tidegate sandbox [OPTIONS] COMMAND [ARGS]...

  Control the Sui network inside this package: play money, time, prices, faults.

Options:
  -h, --help  Show this message and exit.

Commands:
  faucet  Mint play money.
  reset   Forget every coin, position and transaction of the sandbox; wallets are funded anew...
  serve   Serve the sandbox on loopback for other programs, until Ctrl-C or SIGTERM.
  clock   Show the sandbox's time, or move it forward, so that interest accrues and epochs pass.
  price   Set what a coin is worth; pools that trade it follow.
  fault   Make the network misbehave for every program that uses it; 0 ends it.
""",
    "sandbox faucet": """\
Usage: tidegate sandbox faucet [OPTIONS] [ADDRESS] [AMOUNT]

  Mint play money.

  Example: tidegate sandbox faucet 250 --token USDC

Arguments:
  ADDRESS <str>  Who gets it; by default the sandbox's wallet.
  AMOUNT <str>   How much; 100 if not given.

Options:
  --token SYMBOL  SUI, USDC, …  [default: SUI]
  --network NAME  sandbox, testnet, mainnet or the URL of a node.
  --profile NAME  Settings of [profiles.NAME] in the file.
  --output FORM   auto, ndjson, json or text; auto is text on a terminal, else ndjson.
  -h, --help      Show this message and exit.
""",
    "sandbox reset": """\
Usage: tidegate sandbox reset [OPTIONS]

  Forget every coin, position and transaction of the sandbox; wallets are funded anew when next
  used.

  Sessions, the journal and keys stay.

Options:
  --yes           Do not ask.
  --network NAME  sandbox, testnet, mainnet or the URL of a node.
  --profile NAME  Settings of [profiles.NAME] in the file.
  --output FORM   auto, ndjson, json or text; auto is text on a terminal, else ndjson.
  -h, --help      Show this message and exit.
""",
    "sandbox serve": """\
Usage: tidegate sandbox serve [OPTIONS]

  Serve the sandbox on loopback for other programs, until Ctrl-C or SIGTERM.

  Prints one line when it is ready. Then, elsewhere: tidegate ask balance --network URL

Options:
  --port N        TCP port; 0 is any free one.  [default: 0; 0<=x<=65535]
  --memory        A new network that is kept in memory and ends with the command.
  --profile NAME  Settings of [profiles.NAME] in the file.
  --output FORM   auto, ndjson, json or text; auto is text on a terminal, else ndjson.
  -h, --help      Show this message and exit.
""",
    "sandbox clock": """\
Usage: tidegate sandbox clock [OPTIONS] [+DURATION|show]

  Show the sandbox's time, or move it forward, so that interest accrues and epochs pass.

  Example: tidegate sandbox clock +7d

Arguments:
  +DURATION|show <str>  How far forward, such as +90s or +1d12h.

Options:
  --network NAME  sandbox, testnet, mainnet or the URL of a node.
  --profile NAME  Settings of [profiles.NAME] in the file.
  --output FORM   auto, ndjson, json or text; auto is text on a terminal, else ndjson.
  -h, --help      Show this message and exit.
""",
    "sandbox price": """\
Usage: tidegate sandbox price [OPTIONS] {TOKEN} {USD}

  Set what a coin is worth; pools that trade it follow.

  Example: tidegate sandbox price SUI 3.10

Arguments:
  TOKEN <str>  A symbol or a full coin type.  [required]
  USD <str>    Price of one whole coin.  [required]

Options:
  --network NAME  sandbox, testnet, mainnet or the URL of a node.
  --profile NAME  Settings of [profiles.NAME] in the file.
  --output FORM   auto, ndjson, json or text; auto is text on a terminal, else ndjson.
  -h, --help      Show this message and exit.
""",
    "sandbox fault": """\
Usage: tidegate sandbox fault [OPTIONS] [NAME] [N]

  Make the network misbehave for every program that uses it; 0 ends it. Without a name, show what is
  on.

  Example: tidegate sandbox fault drop-response 1

Arguments:
  NAME <str>     drop-response, unavailable, abort, delay or lag.
  N <int range>  How many executions it strikes; for delay and lag, ms.  [default: 1;
                 0<=x<=1000000000]

Options:
  --network NAME  sandbox, testnet, mainnet or the URL of a node.
  --profile NAME  Settings of [profiles.NAME] in the file.
  --output FORM   auto, ndjson, json or text; auto is text on a terminal, else ndjson.
  -h, --help      Show this message and exit.
""",
    "schema": """\
Usage: tidegate schema [OPTIONS] COMMAND [ARGS]...

  Print JSON Schemas of the output.

Options:
  -h, --help  Show this message and exit.

Commands:
  events  Print the JSON Schema of one event line.
""",
    "schema events": """\
Usage: tidegate schema events [OPTIONS]

  Print the JSON Schema of one event line.

  Example: tidegate schema events > events.schema.json

Options:
  --output FORM  auto, ndjson, json or text; auto is text on a terminal, else ndjson.
  -h, --help     Show this message and exit.
""",
}

BARE: Final[frozenset[str]] = frozenset({"", "wallet", "config", "sandbox", "schema"})
"""Commands that print their help when they are called without anything else."""
