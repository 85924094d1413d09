// The equation of each named op.
#include "dialect/GroupedMoe/IR/Equation.h"
#include "dialect/GroupedMoe/IR/GroupedMoeOps.h"
#include <limits>

using namespace mlir;
using namespace grouped_moe;

void GemmQuantOp::buildEquation(EquationBuilder &eq) {
  if (getWeightedBias()) {
    if (eq.bias) {
      eq.bias.first = eq.mul(eq.bias.first, eq.prob);
    }
    eq.result = eq.preactivation = eq.scaled();
    return;
  }
  eq.preactivation = eq.scaled();
  eq.result.first = eq.mul(eq.preactivation.first, eq.prob);
}

void GemmSwigluOp::buildEquation(EquationBuilder &eq) {
  auto [gate, up] = eq.preactivation = eq.scaled();
  Value swish = eq.mul(gate, eq.sigmoid(gate));
  eq.result.first = eq.mul(eq.mul(up, swish), eq.prob);
}

void GemmGegluOp::buildEquation(EquationBuilder &eq) {
  float limit = getLimit().convertToFloat(),
        slope = getSlope().convertToFloat();
  auto [gate, up] = eq.preactivation = eq.scaled();
  Value g = eq.atMost(gate, limit);
  Value u = eq.atMost(eq.atLeast(up, -limit), limit);
  Value swish = eq.mul(g, eq.sigmoid(eq.mul(g, slope)));
  Value shifted = eq.add(u, getOffset().convertToFloat());
  eq.result.first = eq.mul(eq.mul(shifted, swish), eq.prob);
}

void GemmSitugluOp::buildEquation(EquationBuilder &eq) {
  auto bounded = [&](Value x, float bound) {
    return eq.mul(eq.tanh(eq.mul(x, 1.0f / bound)), bound);
  };
  auto [gate, up] = eq.preactivation = eq.scaled();
  Value tg =
      eq.mul(bounded(gate, getGateBound().convertToFloat()), eq.sigmoid(gate));
  Value tu = bounded(up, getUpBound().convertToFloat());
  eq.result.first = eq.mul(eq.mul(tg, tu), eq.prob);
}

void GemmSreluOp::buildEquation(EquationBuilder &eq) {
  eq.preactivation = eq.scaled();
  Value r = eq.relu(eq.preactivation.first);
  if (auto bound = getBound()) {
    float limit = bound->convertToFloat();
    r = eq.mul(eq.tanh(eq.mul(r, 1.0f / limit)), limit);
  }
  eq.result.first = eq.mul(eq.mul(r, r), eq.prob);
}

void GemmDswigluOp::buildEquation(EquationBuilder &eq) {
  Value r = eq.scaled().first;
  auto [gate, up] = eq.c;
  Value s = eq.sigmoid(gate), swish = eq.mul(gate, s);
  Value weighted = eq.mul(r, eq.prob);
  Value slope = eq.fma(gate, eq.oneMinus(s), eq.constant(1.0f));
  eq.result.first = eq.mul(eq.mul(weighted, eq.mul(up, s)), slope);
  eq.result.second = eq.mul(weighted, swish);
  eq.dprob = eq.mul(eq.mul(r, up), swish);
}

void GemmDgegluOp::buildEquation(EquationBuilder &eq) {
  float limit = getLimit().convertToFloat(),
        slope = getSlope().convertToFloat();
  Value r = eq.scaled().first;
  auto [gate, up] = eq.c;
  Value g = eq.atMost(gate, limit);
  Value u = eq.add(eq.atMost(eq.atLeast(up, -limit), limit),
                   getOffset().convertToFloat());
  Value inner = eq.mul(g, slope), s = eq.sigmoid(inner), swish = eq.mul(g, s);
  Value weighted = eq.mul(r, eq.prob);
  Value rise = eq.fma(inner, eq.oneMinus(s), eq.constant(1.0f));
  constexpr float none = -std::numeric_limits<float>::infinity();
  eq.result.first = eq.within(eq.mul(eq.mul(weighted, eq.mul(u, s)), rise),
                              gate, none, limit);
  eq.result.second = eq.within(eq.mul(weighted, swish), up, -limit, limit);
  eq.dprob = eq.mul(eq.mul(r, u), swish);
}

void GemmDsreluOp::buildEquation(EquationBuilder &eq) {
  Value g = eq.scaled().first, c = eq.c.first;
  bool isC = getPreactivation() == PreactivationForm::c;
  Value active = eq.relu(isC ? c : g), factor = isC ? g : c;
  Value product = eq.mul(factor, active);
  eq.result.first = eq.mul(eq.mul(product, 2.0f), eq.prob);
  eq.dprob = eq.mul(product, active);
  Value squared = eq.relu(c);
  eq.activation.first = eq.mul(eq.mul(squared, squared), eq.prob);
}
