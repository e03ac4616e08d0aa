/**
 * The form of a record in memory: header, layout, key and its hash, and how aligned words are read and written. It
 * stands on nothing of the store; begin with {@link io.farheap.store.format.StoreRecord} and
 * {@link io.farheap.store.format.RecordLayout}.
 */
@NullMarked
package io.farheap.store.format;

import org.jspecify.annotations.NullMarked;
