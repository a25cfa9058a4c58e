"""The laziest ways through lesson 03: the large network."""

from tests.lessons.planted.lazy import LazyTable

TABLE: LazyTable = {}
