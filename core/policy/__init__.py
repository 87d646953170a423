"""What may happen without asking: presets, tiers, guards."""
