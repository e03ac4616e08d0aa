/**
 * The policies by which a map can evict: what each wants to know of an object, and how it ranks it. Nothing here reads
 * a clock, a server or memory that others write. Everything is of one thread, and nothing allocates after construction.
 * Begin with {@link io.farheap.kv.policy.Policies}.
 */
@NullMarked
package io.farheap.kv.policy;

import org.jspecify.annotations.NullMarked;
