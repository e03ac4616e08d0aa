/**
 * Stored procedures: code that runs where the data is. {@link io.farheap.procedure.Call} is all that a procedure sees;
 * {@link io.farheap.procedure.LocalCall} is one over memory of this process, for tests and debuggers. What a server
 * makes of a class is in {@code translate}; what it does with it, and how it is called, is elsewhere.
 */
@NullMarked
package io.farheap.procedure;

import org.jspecify.annotations.NullMarked;
