/**
 * What a map says to its users: how requests end, who is told, what was found, moved and counted. It stands on nothing;
 * begin with {@link io.farheap.kv.contract.KvStatus}.
 */
@NullMarked
package io.farheap.kv.contract;

import org.jspecify.annotations.NullMarked;
