/**
 * The cache manager: its decisions ({@link io.farheap.manager.allocation.Allocator}), its knowledge
 * ({@link io.farheap.manager.service.ClusterManager}), and the ways to reach it. The state that has to survive it is in
 * {@link io.farheap.manager.state}; the clients' and servers' side is the library's package {@code manager}.
 */
@NullMarked
package io.farheap.manager.service;

import org.jspecify.annotations.NullMarked;
