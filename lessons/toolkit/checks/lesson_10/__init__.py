"""Public checks of lesson 10: the frameworks' own ways."""
