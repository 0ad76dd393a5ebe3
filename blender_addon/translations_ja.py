JAPANESE: dict[str, dict[str, str]] = {}
