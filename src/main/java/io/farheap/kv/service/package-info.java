/**
 * What servers do for maps, called over message rings: they hand segments and free blocks out, collect what dead
 * clients leave, keep the map's clock, and what its sessions have learned. All state is of one space, in the server's
 * memory alone, and ends with the space.
 */
@NullMarked
package io.farheap.kv.service;

import org.jspecify.annotations.NullMarked;
