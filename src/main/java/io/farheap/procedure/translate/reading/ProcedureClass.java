package io.farheap.procedure.translate.reading;

import java.util.List;

/**
 * A class that keeps the rules for classes.
 *
 * @param methods all of them but the constructor
 * @param run index of {@code run(Call)}
 */
public record ProcedureClass(String name, List<UserMethod> methods, int run) {}
