/** Donates memory: regions of one registered arena, granted to clients under leases and taken back zeroed. */
@NullMarked
package io.farheap.server;

import org.jspecify.annotations.NullMarked;
