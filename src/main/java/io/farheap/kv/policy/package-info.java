/**
 * The policies by which a map can evict: the information that each needs about an object, and its ranking. Nothing here
 * reads a clock, a server or memory that other threads write. Everything is used by one thread, and nothing allocates
 * after construction. Begin with {@link io.farheap.kv.policy.Policies}.
 */
@NullMarked
package io.farheap.kv.policy;

import org.jspecify.annotations.NullMarked;
