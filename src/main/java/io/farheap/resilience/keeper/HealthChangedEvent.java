package io.farheap.resilience.keeper;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/**
 * Slabs of a space have become void, are being regenerated or are good again, or a server has become suspect or is so
 * no more.
 */
@Name("io.farheap.HealthChanged")
@Label("Health Changed")
@Description("The health of a coded space after its slabs or its suspect servers have changed")
@Category("Farheap")
@StackTrace(false)
final class HealthChangedEvent extends HealthEvent {}
