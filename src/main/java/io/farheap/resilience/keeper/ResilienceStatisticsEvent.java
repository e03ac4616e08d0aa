package io.farheap.resilience.keeper;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.StackTrace;

/** A space's health and the counts of its sessions, every second of a recording. */
@Name("io.farheap.ResilienceStatistics")
@Label("Resilience Statistics")
@Description("The health of a coded space, and counts of its sessions since it was created")
@Category("Farheap")
@Period("1 s")
@StackTrace(false)
public final class ResilienceStatisticsEvent extends HealthEvent {}
