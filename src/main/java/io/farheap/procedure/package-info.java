/**
 * Stored procedures: code that runs where the data is. {@link io.farheap.procedure.Call} is a procedure's only
 * interface to its surroundings; {@link io.farheap.procedure.LocalCall} implements it over memory of this process, for
 * tests and debuggers. {@code translate} makes a class executable on a server, {@code service} runs its calls there;
 * clients call procedures through a package above.
 */
@NullMarked
package io.farheap.procedure;

import org.jspecify.annotations.NullMarked;
