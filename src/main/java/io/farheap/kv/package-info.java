/**
 * A cache of objects in far memory that many client processes read and change with one-sided operations alone (Ditto,
 * SOSP '23). Its table of slots, and the blocks that the slots name, lie in regions of memory servers. A get is two
 * READs, a set is two round trips, and a client that needs room samples the table and evicts an object.
 *
 * <p>docs/design/map.md says where each operation takes effect and what a crash leaves; docs/design/map-formats.md has
 * the formats byte by byte.
 */
@NullMarked
package io.farheap.kv;

import org.jspecify.annotations.NullMarked;
