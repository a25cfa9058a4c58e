"""Public checks of lesson 11: when the model does not fit."""
