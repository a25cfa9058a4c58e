"""The laziest ways through lesson 08: distributing the data."""

from tests.lessons.planted.lazy import LazyTable

TABLE: LazyTable = {}
