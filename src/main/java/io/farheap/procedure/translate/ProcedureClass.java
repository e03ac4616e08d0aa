package io.farheap.procedure.translate;

import java.util.List;

/**
 * A class that keeps the rules for classes.
 *
 * @param methods all of them but the constructor
 * @param run index of {@code run(Call)}
 */
record ProcedureClass(String name, List<OwnMethod> methods, int run) {}
