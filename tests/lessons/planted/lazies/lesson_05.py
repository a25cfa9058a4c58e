"""The laziest ways through lesson 05: mirrored replicas."""

from tests.lessons.planted.lazy import LazyTable

TABLE: LazyTable = {}
