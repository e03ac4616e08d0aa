/**
 * Where a session's requests go: for each region its copy, the connection and the batches to its server, and the life
 * of what a session has to each server. It stands on {@code order}; begin with {@link io.farheap.cache.route.Routes}.
 */
@NullMarked
package io.farheap.cache.route;

import org.jspecify.annotations.NullMarked;
