/**
 * What woven code uses at run time: the state of a call in progress, its window into regions, loads, stores, copies and
 * atomics, and how the call is suspended and saved. Woven classes are in this package; begin with
 * {@link io.farheap.procedure.translate.running.CallContext}, then
 * {@link io.farheap.procedure.translate.running.CallFrame}.
 */
@NullMarked
package io.farheap.procedure.translate.running;

import org.jspecify.annotations.NullMarked;
