/**
 * The products that a user would choose today instead of far memory, each behind the same two operations, for
 * {@code farheap bench peers}. Those that need a client library of their own are in {@code src/peers}, found as
 * services: no such library is in the product's jars.
 */
@NullMarked
package io.farheap.bench.peers;

import org.jspecify.annotations.NullMarked;
