/**
 * A process's side of a map's services: the thread that makes all calls to servers, its beats, the blocks that it
 * fetches and gives back, and how it learns that the map has grown. It uses {@code blocks}; begin with
 * {@link io.farheap.kv.keeper.MapKeeper}.
 */
@NullMarked
package io.farheap.kv.keeper;

import org.jspecify.annotations.NullMarked;
