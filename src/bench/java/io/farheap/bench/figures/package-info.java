/**
 * {@code farheap figures}: measures the published figures and writes them into the pages.
 *
 * <p>{@code docs/figures/figures.json} lists the figures. Each runs as a process of its own; its report is stored in
 * {@code docs/figures/json/NAME.json} with the command, the date, the commit and the machine. Pages have results
 * between {@code <!-- figure NAME TEMPLATE -->} and {@code <!-- /figure -->}, each on a line of its own; a template is
 * {@code docs/figures/templates/NAME/TEMPLATE.table} or {@code TEMPLATE.text}.
 *
 * <p>A term is {@code [least|most] FIELD [KEY=VALUE,VALUE]... [/DIVISOR] [%FORMAT]}: the field of the rows that match,
 * which must all have one value unless the least or the most is asked for. A value with blanks or commas is in double
 * quotes; {@code -} matches a field that is absent or null. The format is one of Java's with {@code d}, {@code f} or
 * {@code s}. A table has the lines {@code rows KEY=VALUE...}, {@code by FIELD,FIELD} (rows with the same values share a
 * line) and {@code column TITLE | TERM}. A text is a page's text with terms in braces; {@code @command}, {@code @date},
 * {@code @commit} and {@code @machine} are the origin, and any other {@code @FIELD} is a field of the report.
 */
@NullMarked
package io.farheap.bench.figures;

import org.jspecify.annotations.NullMarked;
