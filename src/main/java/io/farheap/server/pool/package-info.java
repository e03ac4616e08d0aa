/**
 * The server's memory: regions that are granted and given back, their zeroing in between, and the memory that the
 * machine gets back while clients can give regions up. Begin with {@link io.farheap.server.pool.RegionPool}, then
 * {@link io.farheap.server.pool.ResourceMonitor}.
 */
@NullMarked
package io.farheap.server.pool;

import org.jspecify.annotations.NullMarked;
