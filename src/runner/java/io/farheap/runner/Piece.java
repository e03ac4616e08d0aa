package io.farheap.runner;

import java.util.List;

/** Items of the full form that run together, and pass together: some nine minutes at most. */
record Piece(String name, List<Item> items) {}
