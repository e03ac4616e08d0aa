/**
 * Simulations: a data center's memory that is not let, or cannot be let, as the paper describes it (Redy, section 2.1),
 * and caches that live in it ({@code farheap simulate}); the manager on spot markets ({@code simulate spot}); what
 * placements of coded ranges lose ({@code simulate placement}). One thread, no clock: the same seed gives the same
 * figures.
 */
@NullMarked
package io.farheap.manager.simulator;

import org.jspecify.annotations.NullMarked;
