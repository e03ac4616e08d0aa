/**
 * A log's address space on storage: files, far memory, memory, and several of these in tiers (Redy, section 8). Here
 * belong where bytes of a log lie, and how they get there and back; what they mean, which are alive, and when they are
 * durable as a whole, is {@code store}'s.
 */
@NullMarked
package io.farheap.tier;

import org.jspecify.annotations.NullMarked;
