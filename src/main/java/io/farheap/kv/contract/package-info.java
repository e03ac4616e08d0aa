/**
 * The part of a map that its users see: statuses of requests, callbacks, and the results that are found, moved and
 * counted. It uses no other room; begin with {@link io.farheap.kv.contract.KvStatus}.
 */
@NullMarked
package io.farheap.kv.contract;

import org.jspecify.annotations.NullMarked;
