/**
 * What an application and the rooms of the store agree on: statuses, exceptions and counts that a store says, callbacks
 * and updates that an application writes. It stands on nothing of the store; begin with
 * {@link io.farheap.store.contract.StoreStatus}.
 */
@NullMarked
package io.farheap.store.contract;

import org.jspecify.annotations.NullMarked;
