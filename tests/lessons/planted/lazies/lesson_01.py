"""The laziest ways through lesson 01: a network learns, by hand."""

from tests.lessons.planted.lazy import LazyTable

TABLE: LazyTable = {}
