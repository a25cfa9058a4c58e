"""Helpers to test pictures."""


def words(figure):
    """Return all text in a picture."""
    import matplotlib.text

    tables = [table for axes in figure.axes for table in axes.tables]
    cells = [cell.get_text() for table in tables for cell in table.get_celld().values()]
    texts = [*figure.findobj(matplotlib.text.Text), *cells]
    return [text.get_text() for text in texts if text.get_text()]


def is_png(figure):
    return figure._repr_png_().startswith(b"\x89PNG")
