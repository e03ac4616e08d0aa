/**
 * The cache manager: what it decides ({@link io.farheap.manager.allocation.Allocator}), what it knows
 * ({@link io.farheap.manager.service.ClusterManager}), and how others reach it. What has to survive it is
 * {@link io.farheap.manager.state}'s; what clients and servers do with it is the library's {@code manager}.
 */
@NullMarked
package io.farheap.manager.service;

import org.jspecify.annotations.NullMarked;
