/**
 * Adding servers and memory to a map that is used, taking servers out, and emptying segments so that they can serve
 * another size class. It uses {@code session}, by which objects are moved, and {@code keeper}; begin with
 * {@link io.farheap.kv.elastic.ServerDrain}, whose comment has the steps.
 */
@NullMarked
package io.farheap.kv.elastic;

import org.jspecify.annotations.NullMarked;
