"""One file per screen: `view` says what it shows, `do_…` what a click does. No browser needed."""
