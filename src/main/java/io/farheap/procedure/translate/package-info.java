/**
 * What a server makes of a user's class. {@link io.farheap.procedure.translate.Translator} reads it, refuses what is
 * not in the subset, and writes a class of its own, with fuel, checked accesses and resume points woven in; the user's
 * class is never loaded. {@link io.farheap.procedure.translate.running.CallContext} executes it in slices. Who runs
 * contexts, and where a call comes from, is elsewhere.
 */
@NullMarked
package io.farheap.procedure.translate;

import org.jspecify.annotations.NullMarked;
