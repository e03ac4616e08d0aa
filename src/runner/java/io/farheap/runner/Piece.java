package io.farheap.runner;

import java.util.List;

/** Items of the full form that pass together: some nine minutes if they run alone. */
record Piece(String name, List<Item> items) {}
