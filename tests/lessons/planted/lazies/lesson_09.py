"""The laziest ways through lesson 09: the learning rate."""

from tests.lessons.planted.lazy import LazyTable

TABLE: LazyTable = {}
