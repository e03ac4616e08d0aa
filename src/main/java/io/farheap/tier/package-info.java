/**
 * A log's address space on storage: files, far memory, memory, and several of these in tiers (Redy, section 8). A
 * device knows where the bytes of a log lie and moves them there and back. Their meaning, which records are live, and
 * when the log as a whole is durable belong to {@code store}.
 */
@NullMarked
package io.farheap.tier;

import org.jspecify.annotations.NullMarked;
