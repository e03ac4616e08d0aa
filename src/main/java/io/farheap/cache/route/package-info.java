/**
 * Where a session's requests go: for each region its copy, and the connection and the batches to its server; and how
 * the session's ends to each server are made, drained and ended. The package uses {@code order}; begin with
 * {@link io.farheap.cache.route.Routes}.
 */
@NullMarked
package io.farheap.cache.route;

import org.jspecify.annotations.NullMarked;
