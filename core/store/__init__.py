"""Durable state: sessions, journal, spend reservations, contacts."""
