/**
 * What a map says to its users: how requests end, the callbacks that say so, what was found, moved and counted. It
 * stands on no other room; begin with {@link io.farheap.kv.contract.KvStatus}.
 */
@NullMarked
package io.farheap.kv.contract;

import org.jspecify.annotations.NullMarked;
