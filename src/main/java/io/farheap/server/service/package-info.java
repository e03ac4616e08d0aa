/**
 * What runs in a memory server's process beside the server: services, and their work on server threads. The library has
 * two, for maps and for stored procedures. It stands on {@code contract}; begin with
 * {@link io.farheap.server.service.ServerService}.
 */
@NullMarked
package io.farheap.server.service;

import org.jspecify.annotations.NullMarked;
