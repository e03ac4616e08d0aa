/**
 * A cache of objects in far memory that many client processes read and change with one-sided operations alone (Ditto,
 * SOSP '23). A table of slots and blocks that slots point to lie in regions of memory servers; a Get is two READs, a
 * Set two round trips, and who needs room evicts by sampling the table.
 *
 * <p>docs/design/map.md says where each operation takes effect and what a crash leaves; docs/design/map-formats.md has
 * the formats byte by byte.
 */
@NullMarked
package io.farheap.kv;

import org.jspecify.annotations.NullMarked;
