/**
 * How a server runs a user's class. {@link io.farheap.procedure.translate.Translator} reads it, refuses a class that is
 * not in the subset, and writes another class, with fuel, checked accesses and resume points woven in; the user's class
 * is never loaded. {@link io.farheap.procedure.translate.running.CallContext} executes the written class in slices. The
 * threads that run contexts, and the path of a call from the client, are in other packages.
 */
@NullMarked
package io.farheap.procedure.translate;

import org.jspecify.annotations.NullMarked;
