/**
 * What woven code works on and is linked with: a call in progress, its window into regions, loads, stores, copies and
 * atomics, and how it is suspended and saved. Woven classes lie in this package; begin with
 * {@link io.farheap.procedure.translate.running.CallContext}, then
 * {@link io.farheap.procedure.translate.running.CallFrame}.
 */
@NullMarked
package io.farheap.procedure.translate.running;

import org.jspecify.annotations.NullMarked;
