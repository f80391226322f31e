"""Kills, full disks, jumping clocks and second writers, drawn at random: every store ends with the same bytes."""
