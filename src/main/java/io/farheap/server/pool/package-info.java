/**
 * The server's memory: regions that are taken and given back, zeroing before they are granted again, and how much of it
 * the machine may have back while clients can do without. Begin with {@link io.farheap.server.pool.RegionPool}, then
 * {@link io.farheap.server.pool.ResourceMonitor}.
 */
@NullMarked
package io.farheap.server.pool;

import org.jspecify.annotations.NullMarked;
