"""What several suites share: where the measured data lies, and how long a campaign is."""
