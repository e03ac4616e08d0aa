/**
 * The types that an application shares with the rooms of the store: statuses, exceptions and counts that the store
 * returns, and callbacks and updates that an application writes. It stands on nothing of the store; begin with
 * {@link io.farheap.store.contract.StoreStatus}.
 */
@NullMarked
package io.farheap.store.contract;

import org.jspecify.annotations.NullMarked;
